import { openWasmWork, workKernelsSuite } from '../../../test/suites/workKernelsSuite.ts'

workKernelsSuite('WebAssembly', openWasmWork)
