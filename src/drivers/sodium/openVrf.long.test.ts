import { vrfSuite } from '../../../test/suites/vrfSuite.ts'
import { ecvrf } from '../../core/chain/ecvrf.ts'
import { nobleVrf } from '../../core/chain/nobleVrf.ts'
import { openWasm } from './openWasm.ts'
import { sodiumPoints } from './sodiumPoints.ts'

vrfSuite('noble, every bit', nobleVrf)
vrfSuite('sodium-wasm, every bit', ecvrf(sodiumPoints(await openWasm())))
