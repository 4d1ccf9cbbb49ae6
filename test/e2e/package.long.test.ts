import { installedOverSshSuite } from '../suites/installedSuite.ts'
import { installPackage } from '../support/installPackage.ts'

installedOverSshSuite('the package', installPackage)
