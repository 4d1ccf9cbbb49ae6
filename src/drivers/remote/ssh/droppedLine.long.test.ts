import { droppedLineSuite } from '../../../../test/suites/droppedLineSuite.ts'
import { startOpenSsh, whyNoOpenSsh } from '../../../../test/support/openSshServer.ts'
import { skipWith } from '../../../../test/support/skipWith.ts'

const missing = whyNoOpenSsh()

if (missing === null)
  droppedLineSuite(
    'OpenSSH',
    ({ authorizedKey, ...wanted }) => startOpenSsh({ ...wanted, authorizedKeys: authorizedKey }),
    10,
  )
else skipWith('a connection to OpenSSH that is dropped', missing)
