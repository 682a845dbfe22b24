//! Servers that start on a user's data: a dump, or a copy of a data folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use dyno_engine::testing::{engines, servers};
use dyno_engine::{DATABASE, Installation, Server, StartOptions, check_data_folder, load_dump, start};
use dyno_testing::dyno_test;

use crate::ENGINES;

const PATIENCE: Duration = Duration::from_secs(60);

fn is_postgres(server: &Server) -> bool {
    server.access().engine == "postgres"
}

/// A dump of 300 rows, as the dump program of the server's family writes it.
fn dump(server: &Server) -> String {
    if is_postgres(server) {
        let rows: Vec<String> = (1..=300).map(|id| format!("{id}\tit's \\\\ {id}\n")).collect();
        let rows = rows.concat();
        return format!(
            "--\n-- PostgreSQL database dump\n--\n\\restrict x\nSET standard_conforming_strings = on;\n\
             CREATE TABLE public.t (\n    id integer NOT NULL,\n    note text\n);\n\
             ALTER TABLE public.t OWNER TO \"shop owner\";\n\
             CREATE FUNCTION public.f() RETURNS text LANGUAGE sql AS $$ SELECT 'a;b' $$;\n\
             COPY public.t (id, note) FROM stdin;\n{rows}\\.\n\n\
             ALTER TABLE ONLY public.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);\n\\unrestrict x\n"
        );
    }
    let rows: Vec<String> = (1..=300).map(|id| format!("({id},'it\\'s \\\\ {id}')")).collect();
    format!(
        "-- MySQL dump\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `t`;\n\
         CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `note` varchar(99),\n  PRIMARY KEY (`id`)\n);\n\
         LOCK TABLES `t` WRITE;\nINSERT INTO `t` VALUES {};\nUNLOCK TABLES;\nDELIMITER ;;\n\
         CREATE TRIGGER tt BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; SET @b = 2; END ;;\nDELIMITER ;\n",
        rows.join(",")
    )
}

fn load(server: &Server, text: &str) -> Result<(), String> {
    let stop = AtomicBool::new(false);
    load_dump(server, "shop.sql", &mut text.as_bytes(), &stop).map_err(|error| error.to_string())
}

fn first(server: &Server, sql: &str) -> String {
    server.query(sql).unwrap().rows[0][0].clone().unwrap_or_default()
}

#[dyno_test(servers(ENGINES))]
fn a_server_loads_a_dump(server: &mut Server) {
    load(server, &dump(server)).unwrap();
    assert_eq!(first(server, "SELECT count(*) FROM t"), "300");
    assert_eq!(first(server, "SELECT note FROM t WHERE id = 7"), "it's \\ 7");
    assert_eq!(server.main_database().unwrap(), DATABASE);
    if is_postgres(server) {
        assert_eq!(first(server, "SELECT f()"), "a;b");
        let owner = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 't'";
        assert_eq!(first(server, owner), "shop owner");
        assert_eq!(first(server, "SELECT reltuples FROM pg_class WHERE relname = 't'"), "300");
    } else {
        load(server, "CREATE DATABASE shop;\nUSE shop;\nCREATE TABLE a (i INT);\nCREATE TABLE b (i INT);\n")
            .unwrap();
        assert_eq!(server.main_database().unwrap(), "shop", "it has the most tables");
    }
}

#[dyno_test(servers(ENGINES))]
fn the_statement_of_a_dump_that_fails_is_named(server: &mut Server) {
    let error = load(server, "SELECT 1;\n\nSELECT 2;\nSELECT\n  nothing FROM nowhere;\n").unwrap_err();
    assert!(error.starts_with("shop.sql:4: the server says: "), "{error}");
    assert!(error.ends_with("in `SELECT nothing FROM nowhere`"), "{error}");
    let error = load(server, "SELECT 1;\nSELECT 'a").unwrap_err();
    assert!(error.contains("begins in line 2; it was cut off"), "{error}");
}

/// Names and times of the files of a folder.
fn files(folder: &Path) -> BTreeMap<String, SystemTime> {
    let items = fs::read_dir(folder).unwrap().map(Result::unwrap);
    items
        .map(|item| {
            (item.file_name().to_string_lossy().into_owned(), item.metadata().unwrap().modified().unwrap())
        })
        .collect()
}

#[dyno_test(engines(ENGINES))]
fn a_server_starts_on_a_copy_of_a_data_folder(installation: &Installation) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let options = StartOptions { data_folder: Some(data.clone()), ..StartOptions::new(folder.path()) };
    let mut owner = start(installation, options).unwrap();
    owner.query("CREATE TABLE kept (id INT PRIMARY KEY)").unwrap();
    owner.query("INSERT INTO kept VALUES (1), (2)").unwrap();
    let error = check_data_folder(&data, &installation.entry).unwrap_err().to_string();
    assert!(error.contains("shut it down cleanly"), "{error}");
    owner.shut_down_cleanly(PATIENCE).unwrap();
    if installation.entry.engine == "postgres" {
        fs::write(data.join("standby.signal"), "").unwrap();
    }
    check_data_folder(&data, &installation.entry).unwrap();
    let before = files(&data);
    let options = StartOptions { data_copied_from: Some(data.clone()), ..StartOptions::new(folder.path()) };
    let copy = start(installation, options).unwrap();
    assert_eq!(first(&copy, "SELECT count(*) FROM kept"), "2");
    copy.query("INSERT INTO kept VALUES (3)").unwrap();
    assert_eq!(files(&data), before, "the folder itself is never used");
}
