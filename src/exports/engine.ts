/** The verifier's engine in WebAssembly, made from bytes handed in. */
export { createEngine } from '../core/engine/createEngine.ts'
