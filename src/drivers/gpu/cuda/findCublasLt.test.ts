import { describe, expect, test } from 'vitest'
import { findCublasLt } from './findCublasLt.ts'

const tree = (files: readonly string[], environment: Record<string, string> = {}) => ({
  environment,
  home: '/home/me',
  list: (folder: string) => {
    const inside = files.filter((file) => file.startsWith(`${folder}/`)).map((file) => file.slice(folder.length + 1))
    return [...new Set(inside.map((rest) => rest.split('/')[0]!))]
  },
})

describe('findCublasLt', () => {
  test.each([
    '/usr/lib/x86_64-linux-gnu/libcublasLt.so.12',
    '/usr/local/cuda-11.8/lib64/libcublasLt.so.11',
    '/usr/local/cuda/targets/x86_64-linux/lib/libcublasLt.so.13',
    '/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13',
    '/usr/local/lib/python3.10/dist-packages/nvidia/cublas/lib/libcublasLt.so.12',
    '/home/me/.local/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.11',
    '/home/me/miniconda3/envs/work/lib/libcublasLt.so.12',
    '/opt/conda/lib/libcublasLt.so.12',
  ])('finds %s', (path) => {
    expect(findCublasLt(tree([path]))).toEqual([path])
  })

  test('takes the newest version first, and the library path before the system within a version', () => {
    const files = [
      '/usr/lib64/libcublasLt.so.12',
      '/mine/libcublasLt.so.12',
      '/usr/local/cuda-11/lib64/libcublasLt.so.11',
      '/usr/local/cuda-13/lib64/libcublasLt.so.13',
    ]
    expect(findCublasLt(tree(files, { LD_LIBRARY_PATH: '/nowhere::/mine' }))).toEqual([
      '/usr/local/cuda-13/lib64/libcublasLt.so.13',
      '/mine/libcublasLt.so.12',
      '/usr/lib64/libcublasLt.so.12',
      '/usr/local/cuda-11/lib64/libcublasLt.so.11',
    ])
  })

  test('passes over versions it does not know and names that only look alike', () => {
    const files = [
      'libcublasLt.so.10',
      'libcublasLt.so.14',
      'libcublasLt.so',
      'libcublasLt.so.12.bak',
      'libcublas.so.12',
    ]
    expect(findCublasLt(tree(files.map((name) => `/usr/lib64/${name}`)))).toEqual([])
  })
})
