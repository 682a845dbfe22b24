//! The three reports, from the results file to text, Markdown and JSON.
