//! The TCP connections of a capture.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::flow::{Flow, Side};
use super::recognise::default_port;
use super::segment::Segment;
use super::session::At;
use crate::error::TrafficError;
use crate::log::{Event, See};
use crate::sql::Dialect;

/// Largest number of connections in memory. If there are more, those that were quiet for longest are forgotten.
const FLOWS_MAX: usize = 100_000;
/// Largest memory for requests, statements and segments of all connections together, in bytes. If a connection would
/// exceed this limit, its data is dropped.
pub(super) const HELD_BYTES_MAX: usize = 512 << 20;

/// The addresses of both ends, the lower one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair(SocketAddr, SocketAddr);

/// Connections by their addresses.
pub(super) struct Flows {
    dialect: Dialect,
    by_addresses: HashMap<Pair, Flow>,
    /// Number of connections so far.
    number: u64,
    held_bytes: usize,
    held_bytes_max: usize,
}

impl Flows {
    pub(super) fn new(dialect: Dialect, held_bytes_max: usize) -> Self {
        Self { dialect, by_addresses: HashMap::new(), number: 0, held_bytes: 0, held_bytes_max }
    }

    /// Reads a segment.
    pub(super) fn segment(
        &mut self,
        at: At,
        segment: &Segment<'_>,
        see: See<'_>,
    ) -> Result<(), TrafficError> {
        let (pair, side) = if segment.from <= segment.to {
            (Pair(segment.from, segment.to), Side::Low)
        } else {
            (Pair(segment.to, segment.from), Side::High)
        };
        let opens = segment.is_syn && segment.acknowledged.is_none();
        if opens
            && let Some(flow) = self.by_addresses.get_mut(&pair)
            && flow.is_another(side, segment)
        {
            let before = flow.held_bytes();
            flow.close(flow.last(), see)?;
            self.by_addresses.remove(&pair);
            self.held_bytes -= before;
        }
        if !self.by_addresses.contains_key(&pair) {
            let is_empty = segment.payload.is_empty() && segment.missing_bytes == 0;
            if is_empty && !segment.is_syn {
                return see(at.number, Event::Unrelated);
            }
            self.insert(pair, see)?;
        }
        let Some(flow) = self.by_addresses.get_mut(&pair) else { return Ok(()) };
        let before = flow.held_bytes();
        flow.segment(side, at, segment, see)?;
        let after = flow.held_bytes();
        if after > before && self.held_bytes + after - before > self.held_bytes_max {
            flow.give_up(see)?;
        }
        self.held_bytes = self.held_bytes + flow.held_bytes() - before;
        Ok(())
    }

    fn insert(&mut self, pair: Pair, see: See<'_>) -> Result<(), TrafficError> {
        if self.by_addresses.len() >= FLOWS_MAX {
            self.forget(see)?;
        }
        self.number += 1;
        let name = format!("c{}", self.number).into_bytes();
        let port = default_port(self.dialect);
        let server = match (pair.0.port() == port, pair.1.port() == port) {
            (true, false) => Some(Side::Low),
            (false, true) => Some(Side::High),
            _ => None,
        };
        self.by_addresses.insert(pair, Flow::new(name, self.dialect, server));
        Ok(())
    }

    /// Forgets closed connections, and the half of all connections that was quiet for longest.
    fn forget(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let mut quiet: Vec<i64> = self.by_addresses.values().map(|flow| flow.last().at_us).collect();
        let middle = quiet.len() / 2;
        let (_, &mut until_us, _) = quiet.select_nth_unstable(middle);
        let is_old = |flow: &Flow| flow.is_closed() || flow.last().at_us <= until_us;
        for (_, mut flow) in self.by_addresses.extract_if(|_, flow| is_old(flow)) {
            self.held_bytes -= flow.held_bytes();
            flow.end(see)?;
        }
        Ok(())
    }

    /// Handles the end of the capture.
    pub(super) fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let mut flows: Vec<Flow> = self.by_addresses.drain().map(|(_, flow)| flow).collect();
        flows.sort_unstable_by_key(|flow| flow.last().number);
        self.held_bytes = 0;
        flows.iter_mut().filter(|flow| !flow.is_closed()).try_for_each(|flow| flow.end(see))
    }

    /// Starts the next file of the capture, whose packets are numbered from 1. The connections continue.
    pub(super) fn begin_file(&mut self) {
        self.by_addresses.values_mut().for_each(Flow::begin_file);
    }
}
