import { execFileSync } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporaryFolder.ts'

/** A disk of 24 MB in memory that can be filled without harm, for as long as the test lasts; only root can mount one. */
export function smallDisk(skip: (why: string) => void): string {
  const disk = temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    skip('only root can mount a small disk')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]))
  return disk
}
