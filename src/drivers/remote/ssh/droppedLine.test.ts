import { droppedLineSuite } from '../../../../test/suites/droppedLineSuite.ts'
import { startSshServer } from '../../../../test/support/sshServer.ts'

droppedLineSuite('a server of npm install', (wanted) => startSshServer({ ...wanted, user: 'renter' }), 1)
