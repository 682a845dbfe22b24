// Writes a comment of a pull request, in place of the one that an earlier run of the same comparison wrote.
'use strict';
const { readFileSync } = require('node:fs');

// GitHub's limit.
const LETTERS_MAX = 65536;
const CUT = '\n\n… The rest is in the page.\n';

// As much of a text as a comment takes, in whole lines.
function fitting(text) {
  if (text.length <= LETTERS_MAX) return text;
  const most = text.slice(0, LETTERS_MAX - CUT.length);
  return most.slice(0, most.lastIndexOf('\n')) + CUT;
}

module.exports = async ({ github, context, core, file }) => {
  const body = fitting(readFileSync(file, 'utf8'));
  const mark = body.slice(0, body.indexOf('\n'));
  const place = { ...context.repo, issue_number: context.payload.pull_request.number };
  try {
    const comments = await github.paginate(github.rest.issues.listComments, { ...place, per_page: 100 });
    // Anybody can write such a mark; only bots are of this kind.
    const earlier = comments.find((comment) => comment.user?.type === 'Bot' && comment.body?.startsWith(mark));
    if (earlier) {
      await github.rest.issues.updateComment({ ...context.repo, comment_id: earlier.id, body });
    } else {
      await github.rest.issues.createComment({ ...place, body });
    }
  } catch (error) {
    // The request of a fork may not write. The summary of the job has the same text.
    core.warning(`The comment was not written: ${error.message}`);
  }
};
