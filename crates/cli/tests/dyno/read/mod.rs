//! What is made of results files: reports, comparisons, histories, prices, exports and pages.

mod compare;
mod cost;
mod dataset;
mod export;
mod otava;
mod outside;
pub(crate) mod pages;
mod results;
mod serve;
