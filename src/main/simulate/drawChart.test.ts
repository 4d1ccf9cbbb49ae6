import { expect, test } from 'vitest'
import { drawChart } from './drawChart.ts'

const chart = {
  name: 'a',
  title: 'a < b & "c"',
  x: 'x',
  y: 'y',
  lines: [
    {
      name: 'one',
      points: [
        [0, 0],
        [2, 4],
      ] as const,
    },
  ],
}

test('a chart is one SVG with every point inside, and no text of it is markup', () => {
  const svg = drawChart(chart)
  expect(svg).toContain('a &lt; b &amp; &quot;c&quot;')
  expect(svg).toContain('points="70,360 700,50"')
  expect(svg).not.toMatch(/href|script|NaN/)
})

test('dots stand for themselves, beside the line on which both sides are equal', () => {
  const svg = drawChart({ ...chart, isScatter: true })
  expect(svg.match(/<circle/g)).toHaveLength(2)
  expect(svg).toContain('stroke-dasharray')
})

test('the grid stands at round numbers, and all points between its ends', () => {
  const svg = drawChart({
    ...chart,
    lines: [
      {
        name: 'one',
        points: [
          [0.00776, 0],
          [0.0879, 1680],
        ],
      },
    ],
  })
  const labels = [...svg.matchAll(/<text[^>]*>(-?[\d.]+)<\/text>/g)].map(([, label]) => label)
  expect(labels).toEqual(['0', '0.02', '0.04', '0.06', '0.08', '0.1', '0', '500', '1000', '1500', '2000'])
})

test('one point alone has a place', () => {
  expect(drawChart({ ...chart, lines: [{ name: 'one', points: [[3, 0]] }] })).not.toMatch(/NaN|Infinity/)
})
