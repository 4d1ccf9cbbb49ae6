/**
 * The Whetstone mix of Curnow and Wichmann (1976) in double precision: one call of `whetstoneLoop(n)` stands for n times
 * 100 000 "Whetstone instructions". Written for a compiler that optimises: every result is used in the end.
 */
const T = 0.499975
const T1 = 0.50025
const T2 = 2

export interface WhetstoneState {
  x: number
  readonly e: Float64Array
}

export const whetstoneState = (): WhetstoneState => ({ x: 1, e: Float64Array.of(1, -1, -1, -1) })

/** Instructions per unit of work, as the mix defines it. */
export const INSTRUCTIONS_PER_LOOP = 100_000
/** Operations of floating point in modules 2, 3 and 8 of one loop: 12 * 16, 14 * 96 and 899 * 6. */
export const FLOP_PER_LOOP = 12 * 16 + 14 * 96 + 899 * 6

export function whetstoneLoop(state: WhetstoneState, loops: number): void {
  for (let i = 0; i < loops; i++) {
    floatingModules(state)
    conditionalJumps(state)
    integerArithmetic(state)
    trigonometry(state)
    arrayReferences(state.e)
    standardFunctions(state)
  }
}

/** The part whose operations are counted: simple elements, elements in a call, and calls with three numbers. */
export function floatingModules(state: WhetstoneState): void {
  const { e } = state
  mixElements(e, 12)
  for (let i = 0; i < 14; i++) mixElements(e, 6)
  let [x, y, z] = [1, 1, 1]
  for (let i = 0; i < 899; i++) {
    x = T * (x + y)
    y = T * (x + y)
    z = (x + y) / T2
    x = z * 2
  }
  state.x = 0.5 + (z % 1) * 1e-9
}

function mixElements(e: Float64Array, times: number): void {
  let [a, b, c, d] = [e[0]!, e[1]!, e[2]!, e[3]!]
  for (let i = 0; i < times; i++) {
    a = (a + b + c - d) * T
    b = (a + b - c + d) * T
    c = (a - b + c + d) * T
    d = (-a + b + c + d) / T2
  }
  e[0] = a
  e[1] = b
  e[2] = c
  e[3] = d
}

function conditionalJumps(state: WhetstoneState): void {
  let j = state.x > 2 ? 0 : 1
  for (let i = 0; i < 345; i++) {
    j = j === 1 ? 2 : 3
    j = j > 2 ? 0 : 1
    j = j < 1 ? 1 : 0
  }
  state.x += j * 1e-12
}

function integerArithmetic({ e }: WhetstoneState): void {
  let [j, k, l] = [1, 2, 3]
  for (let i = 0; i < 210; i++) {
    j = (j * (k - j) * (l - k)) | 0
    k = (l * k - (l - j) * k) | 0
    l = ((l - k) * (k + j)) | 0
    e[(l - 2) & 3] = j + k + l
    e[(k - 2) & 3] = j * k * l
  }
  e.set([1, -1, -1, -1])
}

function trigonometry(state: WhetstoneState): void {
  let [x, y] = [state.x, 0.5]
  for (let i = 0; i < 32; i++) {
    x = T * Math.atan((T2 * Math.sin(x) * Math.cos(x)) / (Math.cos(x + y) + Math.cos(x - y) - 1))
    y = T * Math.atan((T2 * Math.sin(y) * Math.cos(y)) / (Math.cos(x + y) + Math.cos(x - y) - 1))
  }
  state.x = 0.75 + y * 1e-9
}

function arrayReferences(e: Float64Array): void {
  for (let i = 0; i < 616; i++) {
    e[1] = e[2]!
    e[2] = e[3]!
    e[3] = e[1]
  }
}

function standardFunctions(state: WhetstoneState): void {
  let x = state.x
  for (let i = 0; i < 93; i++) x = Math.sqrt(Math.exp(Math.log(x) / T1))
  state.x = 0.75 + x * 1e-9
}
