// What comment.js asks of GitHub. `node -e THIS PATH_OF_COMMENT_JS`
const assert = require('node:assert/strict');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const write = require(process.argv[1]);

const folder = mkdtempSync(join(tmpdir(), 'comment-'));
const file = join(folder, 'comment.md');
const warnings = [];
let comments = [];
let refused = false;

const issues = {
  listComments: 'the list',
  createComment: async ({ owner, issue_number, body }) => {
    if (refused) throw new Error('Resource not accessible by integration');
    assert.deepEqual([owner, issue_number], ['someone', 7]);
    comments.push({ id: comments.length + 1, user: { type: 'Bot' }, body });
  },
  updateComment: async ({ comment_id, body }) => {
    comments.find((comment) => comment.id === comment_id).body = body;
  },
};
const github = {
  rest: { issues },
  paginate: async (list, { repo, issue_number }) => {
    assert.deepEqual([list, repo, issue_number], ['the list', 'server', 7]);
    return comments;
  },
};
const context = { repo: { owner: 'someone', repo: 'server' }, payload: { pull_request: { number: 7 } } };
const core = { warning: (text) => warnings.push(text) };
const say = (text) => {
  writeFileSync(file, text);
  return write({ github, context, core, file });
};

(async () => {
  // Another comment with the same beginning stays, and so does one whose author is gone.
  comments = [{ id: 1, user: { type: 'User' }, body: '<!-- dyno a -->\nmine' }, { id: 2, user: null, body: null }];
  await say('<!-- dyno a -->\nfirst');
  await say('<!-- dyno b -->\nof another comparison');
  await say('<!-- dyno a -->\nsecond');
  assert.deepEqual(
    comments.map((comment) => comment.body),
    ['<!-- dyno a -->\nmine', null, '<!-- dyno a -->\nsecond', '<!-- dyno b -->\nof another comparison'],
  );

  await say('<!-- dyno c -->\n' + 'a line\n'.repeat(20000));
  const long = comments.at(-1).body;
  assert.ok(long.length <= 65536 && long.length > 65000);
  assert.ok(long.endsWith('a line\n\n… The rest is in the page.\n'));

  assert.deepEqual(warnings, []);
  refused = true;
  await say('<!-- dyno d -->\nfrom a fork');
  assert.deepEqual(warnings, ['The comment was not written: Resource not accessible by integration']);
})().finally(() => rmSync(folder, { recursive: true }));
