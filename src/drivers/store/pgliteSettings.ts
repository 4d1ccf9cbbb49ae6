/**
 * How PGlite starts its PostgreSQL. Its own defaults take 128 MB of shared buffers; a fleet's working set is a few MB, and
 * the machine's page cache stands behind it. Single user, no workers: there is one connection.
 */
export const PGLITE_START: readonly string[] = [
  '--single',
  '-O',
  '-j',
  ...settings({
    search_path: 'public',
    exit_on_error: 'false',
    log_checkpoints: 'false',
    max_worker_processes: '0',
    max_parallel_workers: '0',
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    io_method: 'sync',
    shared_buffers: '16MB',
    wal_buffers: '512kB',
    work_mem: '4MB',
    maintenance_work_mem: '16MB',
    temp_buffers: '1MB',
    // The files are written through the file system at each commit, so that a killed process loses nothing. A machine that
    // loses power may: the engine's file layer has no fsync. The runbook says so.
    fsync: 'on',
  }),
]

function settings(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
