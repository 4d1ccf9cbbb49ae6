import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { installedSuite } from '../suites/installedSuite.ts'
import { installPackage } from '../support/installPackage.ts'

installedSuite('the package', installPackage, (folder) => {
  test('has its library by its name, for Node and for a browser', () => {
    const ask =
      "import { checkCertificate } from 'touchstone'; console.log((await checkCertificate('', { trust: [] })).problem.code)"
    for (const condition of ['node', 'browser']) {
      const args = [`--conditions=${condition}`, '--input-type=module', '-e', ask]
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder(), encoding: 'utf8' })
      expect({ stdout, stderr }).toEqual({ stdout: 'EMPTY\n', stderr: '' })
    }
  })
})
