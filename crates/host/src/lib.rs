//! What the host did: CPU, context switches and storage of processes, from procfs.
