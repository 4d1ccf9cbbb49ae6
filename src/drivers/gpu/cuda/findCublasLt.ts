import { join } from 'node:path'

/** What the search may look at; tests hand in a made-up tree. */
export interface FileTree {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** Names in a folder, or none when it is not there. */
  list(folder: string): readonly string[]
}

const NAME = /^libcublasLt\.so\.(1[1-3])$/
const SITE = /^python3(\.\d+)?$/

const SYSTEM = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib']

/**
 * Every cuBLASLt of versions 11 to 13 in its usual places: the library path, the system, CUDA toolkits, and the folders of
 * pip and conda. Newest version first; within a version in the order of that list.
 */
export function findCublasLt(tree: FileTree): readonly string[] {
  const folders = [...libraryPath(tree), ...SYSTEM, ...toolkits(tree), ...pythonFolders(tree)]
  const found: { path: string; version: number }[] = []
  for (const folder of new Set(folders)) {
    for (const name of tree.list(folder)) {
      const version = NAME.exec(name)?.[1]
      if (version) found.push({ path: join(folder, name), version: Number(version) })
    }
  }
  return found.sort((a, b) => b.version - a.version).map(({ path }) => path)
}

const libraryPath = ({ environment }: FileTree): string[] =>
  (environment.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder !== '')

function toolkits(tree: FileTree): string[] {
  const homes = [tree.environment.CUDA_HOME, tree.environment.CUDA_PATH].filter((home) => home !== undefined)
  const local = tree.list('/usr/local').filter((name) => name.startsWith('cuda'))
  const newestFirst = local.sort().reverse()
  const all = [...homes, ...newestFirst.map((name) => `/usr/local/${name}`)]
  return all.flatMap((home) => [join(home, 'lib64'), join(home, 'targets/x86_64-linux/lib')])
}

/** Site folders hold NVIDIA's wheels as nvidia/cublas/lib (to 12) or nvidia/cu13/lib; conda keeps them in its own lib. */
function pythonFolders(tree: FileTree): string[] {
  return pythonHomes(tree).flatMap((home) => {
    const lib = join(home, 'lib')
    const sites = tree
      .list(lib)
      .filter((name) => SITE.test(name))
      .flatMap((name) => [join(lib, name, 'site-packages'), join(lib, name, 'dist-packages')])
    return [lib, ...sites.flatMap(wheels)]
  })
}

const wheels = (site: string): string[] => [
  join(site, 'nvidia/cublas/lib'),
  join(site, 'nvidia/cu12/lib'),
  join(site, 'nvidia/cu13/lib'),
]

function pythonHomes({ environment, home, list }: FileTree): string[] {
  const named = [environment.VIRTUAL_ENV, environment.CONDA_PREFIX].filter((folder) => folder !== undefined)
  const under = ['/opt', home, `${home}/miniconda3/envs`, `${home}/anaconda3/envs`, '/opt/conda/envs', '/workspace']
  const nested = under.flatMap((folder) =>
    list(folder).flatMap((name) => [join(folder, name), join(folder, name, '.venv'), join(folder, name, 'venv')]),
  )
  return [...named, '/usr', '/usr/local', `${home}/.local`, ...nested]
}
