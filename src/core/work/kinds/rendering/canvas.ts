import { TILE_SIDE } from '../../ops/picture.ts'
import type { RgbPicture } from '../simulation/slice.ts'

/** Light as a byte of a picture: held to 0 … 1, and brightened as screens expect. */
const byteOf = (light: number): number => Math.round(255 * Math.min(Math.max(light, 0), 1) ** (1 / 2.2))

/** A picture that grows by rows of tiles, black where nothing came yet. Shown: what is proven is the light. */
export class Canvas implements RgbPicture {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array

  constructor({ width, height }: { readonly width: number; readonly height: number }) {
    this.width = width
    this.height = height
    this.rgb = new Uint8Array(3 * width * height)
  }

  /** Row `row` of tiles, as the tensor `picture` has it. */
  put(row: number, tiles: Uint8Array): void {
    const light = new Float32Array(new Uint8Array(tiles).buffer)
    for (let i = 0; i < light.length; i++) {
      const pixel = Math.floor(i / 3)
      const [tile, inside] = [Math.floor(pixel / TILE_SIDE ** 2), pixel % TILE_SIDE ** 2]
      const x = tile * TILE_SIDE + (inside % TILE_SIDE)
      const y = row * TILE_SIDE + Math.floor(inside / TILE_SIDE)
      this.rgb[3 * (y * this.width + x) + (i % 3)] = byteOf(light[i]!)
    }
  }
}
