import { type Hasher, hasher as inUse, setHasher } from '@chainsafe/persistent-merkle-tree'

const openNative = async (): Promise<Hasher> =>
  (await import('@chainsafe/persistent-merkle-tree/hasher/hashtree')).hasher

/**
 * From now on this process hashes its trees with the processor's own instructions; where those cannot be loaded it goes on
 * with WebAssembly, which finds the same roots. Returns the name of the library that is used.
 */
export async function useFastTrees(open: () => Promise<Hasher> = openNative): Promise<string> {
  try {
    setHasher(await open())
  } catch {
    // No build of it for this machine.
  }
  return inUse.name
}
