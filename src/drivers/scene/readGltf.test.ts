import { Document, WebIO } from '@gltf-transform/core'
import { expect, test } from 'vitest'
import { readGltf } from './readGltf.ts'

async function sceneFile(): Promise<Uint8Array> {
  const document = new Document()
  const buffer = document.createBuffer()
  const accessor = (type: 'VEC3' | 'SCALAR', values: Float32Array | Uint16Array) =>
    document.createAccessor().setType(type).setArray(values).setBuffer(buffer)
  const positions = accessor('VEC3', Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0))
  const metal = document.createMaterial().setBaseColorFactor([0.5, 0.25, 1, 1]).setMetallicFactor(1)
  const primitive = document
    .createPrimitive()
    .setAttribute('POSITION', positions)
    .setIndices(accessor('SCALAR', Uint16Array.of(0, 1, 2, 2, 1, 3)))
    .setMaterial(metal.setRoughnessFactor(0.5).setEmissiveFactor([2, 0, 0]))
  const mesh = document.createMesh().addPrimitive(primitive)
  const camera = document
    .createCamera()
    .setType('perspective')
    .setYFov(Math.PI / 2)
  document
    .createScene()
    .addChild(document.createNode().setMesh(mesh).setTranslation([0, 0, -3]))
    .addChild(document.createNode().setCamera(camera).setTranslation([0, 2, 0]))
  return new WebIO().writeBinary(document)
}

test('a file becomes triangles where its nodes put them, materials and a camera', async () => {
  const { triangles, materials, camera } = await readGltf(await sceneFile())
  const [a, b, c, d] = [
    [0, 0, -3],
    [1, 0, -3],
    [0, 1, -3],
    [1, 1, -3],
  ]
  expect(triangles).toEqual([
    { corners: [a, b, c], material: 1 },
    { corners: [c, b, d], material: 1 },
  ])
  expect(materials[1]).toEqual({ colour: [0.5, 0.25, 1], emission: [2, 0, 0], roughness: 0.5, sort: 'metal' })
  expect(camera).toEqual({ eye: [0, 2, 0], target: [0, 2, -1], fieldOfView: 90 })
})

test('what is no such file is refused', async () => {
  const file = await sceneFile()
  for (const bytes of [new Uint8Array(), file.subarray(0, 40), new Uint8Array(100).fill(65)])
    await expect(readGltf(bytes)).rejects.toMatchObject({ code: 'BAD_INPUT' })
})
