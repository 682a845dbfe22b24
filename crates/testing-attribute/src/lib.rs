//! The attribute `#[dyno_test]`, which registers a function as a test. Use it from `dyno_testing`, which describes it.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Registers a function as a test; `dyno_testing` describes it.
#[proc_macro_attribute]
pub fn dyno_test(maker: TokenStream, function: TokenStream) -> TokenStream {
    let Some(name) = name_of(&function) else {
        return parsed("::core::compile_error!(\"`#[dyno_test]` stands before a function\");");
    };
    let maker = if maker.is_empty() { parsed("::dyno_testing::plain") } else { maker };
    let facts = format!(
        "module: ::core::module_path!(), name: ::core::stringify!({name}), line: ::core::line!(), trials: |name|"
    );
    let call = [parsed(&facts), group(Delimiter::Parenthesis, maker), parsed(&format!("(name, {name})"))];
    let registered =
        [parsed("::dyno_testing::Registered"), group(Delimiter::Brace, call.into_iter().collect())];
    let submitted = [
        function,
        parsed("::dyno_testing::inventory::submit!"),
        group(Delimiter::Brace, registered.into_iter().collect()),
    ];
    submitted.into_iter().collect()
}

/// The name of a function: the word after `fn`.
fn name_of(function: &TokenStream) -> Option<String> {
    let mut tokens = function.clone().into_iter();
    tokens.find(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn"))?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

fn group(delimiter: Delimiter, inside: TokenStream) -> TokenStream {
    TokenTree::from(Group::new(delimiter, inside)).into()
}

fn parsed(text: &str) -> TokenStream {
    text.parse().expect("the text is Rust")
}
