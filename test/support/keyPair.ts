import { randomBytes } from 'node:crypto'
import { openSshKey } from '../../src/drivers/remote/leased/openSshKey.ts'

/** An Ed25519 pair in the forms of OpenSSH. The generator of ssh2 makes one in 256 that nobody can read. */
export function keyPair(): { readonly private: string; readonly public: string } {
  const { privateKey, publicLine } = openSshKey(randomBytes(32))
  return { private: privateKey, public: publicLine }
}
