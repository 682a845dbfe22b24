//! The eight tables and their columns, in the specification's order.

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

use super::Writer;
use super::values::{Form, Values};

/// The tables. Each table comes after the tables that it refers to.
pub(super) const NAMES: [&str; 8] =
    ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"];

/// Writes the rows of one of the `parts` parts of a table. `part` is the part's number, from 1. `None` if there is
/// no such table.
pub(super) fn writer(
    table: &str,
    scale_factor: f64,
    (part, parts): (i32, i32),
    form: Form,
) -> Option<Writer> {
    // The tables region and nation have a fixed size, so they are not divided: part 1 has all their rows.
    let whole = if part == 1 { usize::MAX } else { 0 };
    Some(match table {
        "region" => each(form, RegionGenerator::default().iter().take(whole), |row, region| {
            row.number(region.r_regionkey).text(region.r_name).text(region.r_comment);
        }),
        "nation" => each(form, NationGenerator::default().iter().take(whole), |row, nation| {
            row.number(nation.n_nationkey)
                .text(nation.n_name)
                .number(nation.n_regionkey)
                .text(nation.n_comment);
        }),
        "part" => part_table(scale_factor, part, parts, form),
        "supplier" => supplier(scale_factor, part, parts, form),
        "partsupp" => partsupp(scale_factor, part, parts, form),
        "customer" => customer(scale_factor, part, parts, form),
        "orders" => orders(scale_factor, part, parts, form),
        "lineitem" => lineitem(scale_factor, part, parts, form),
        _ => return None,
    })
}

/// Writes the rows of an iterator, each with `write`.
fn each<R>(
    form: Form,
    mut rows: impl Iterator<Item = R> + 'static,
    write: impl Fn(&mut Values<'_>, R) + 'static,
) -> Writer {
    Box::new(move |out| {
        let row = rows.next();
        row.is_some_and(|row| {
            let mut values = Values::begin(out, form);
            write(&mut values, row);
            values.end();
            true
        })
    })
}

fn part_table(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, PartGenerator::new(scale_factor, part, parts).iter(), |row, part| {
        row.number(part.p_partkey)
            .text(part.p_name)
            .text(part.p_mfgr)
            .text(part.p_brand)
            .text(part.p_type)
            .number(part.p_size)
            .text(part.p_container)
            .number(part.p_retailprice)
            .text(part.p_comment);
    })
}

fn supplier(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, SupplierGenerator::new(scale_factor, part, parts).iter(), |row, supplier| {
        row.number(supplier.s_suppkey)
            .text(supplier.s_name)
            .text(supplier.s_address)
            .number(supplier.s_nationkey)
            .text(supplier.s_phone)
            .number(supplier.s_acctbal)
            .text(supplier.s_comment);
    })
}

fn partsupp(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, PartSuppGenerator::new(scale_factor, part, parts).iter(), |row, offer| {
        row.number(offer.ps_partkey)
            .number(offer.ps_suppkey)
            .number(offer.ps_availqty)
            .number(offer.ps_supplycost)
            .text(offer.ps_comment);
    })
}

fn customer(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, CustomerGenerator::new(scale_factor, part, parts).iter(), |row, customer| {
        row.number(customer.c_custkey)
            .text(customer.c_name)
            .text(customer.c_address)
            .number(customer.c_nationkey)
            .text(customer.c_phone)
            .number(customer.c_acctbal)
            .text(customer.c_mktsegment)
            .text(customer.c_comment);
    })
}

fn orders(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, OrderGenerator::new(scale_factor, part, parts).iter(), |row, order| {
        row.number(order.o_orderkey)
            .number(order.o_custkey)
            .text(order.o_orderstatus)
            .number(order.o_totalprice)
            .text(order.o_orderdate)
            .text(order.o_orderpriority)
            .text(order.o_clerk)
            .number(order.o_shippriority)
            .text(order.o_comment);
    })
}

fn lineitem(scale_factor: f64, part: i32, parts: i32, form: Form) -> Writer {
    each(form, LineItemGenerator::new(scale_factor, part, parts).iter(), |row, line| {
        row.number(line.l_orderkey)
            .number(line.l_partkey)
            .number(line.l_suppkey)
            .number(line.l_linenumber)
            .number(line.l_quantity)
            .number(line.l_extendedprice)
            .number(line.l_discount)
            .number(line.l_tax)
            .text(line.l_returnflag)
            .text(line.l_linestatus)
            .text(line.l_shipdate)
            .text(line.l_commitdate)
            .text(line.l_receiptdate)
            .text(line.l_shipinstruct)
            .text(line.l_shipmode)
            .text(line.l_comment);
    })
}
