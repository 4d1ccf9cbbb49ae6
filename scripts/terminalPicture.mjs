#!/usr/bin/env node
// Draws a terminal's output as SVG: `script -qec "npx touchstone check box.json" /dev/null | node scripts/terminalPicture.mjs "npx touchstone check box.json" > docs/pictures/catch.svg`
import { readFileSync } from 'node:fs'

const COLOURS = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' }
const escapeXml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
const command = process.argv[2] ?? ''
const raw = readFileSync(0, 'utf8').replace(/\r\n/g, '\n')
// A redrawn line is what it was last drawn as.
const lines = `$ ${command}\n${raw}`
  .trimEnd()
  .split('\n')
  .map((line) =>
    line
      .split('\r')
      .at(-1)
      .replace(/\x1b\[2K/g, ''),
  )

function spans(line) {
  let style = {}
  return line.split(/(\x1b\[[0-9;]*m)/).map((piece) => {
    const codes = /^\x1b\[([0-9;]*)m$/.exec(piece)
    if (!codes) {
      const attributes = `${style.fill ? ` fill="${style.fill}"` : ''}${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity="0.6"' : ''}`
      return piece === '' ? '' : `<tspan${attributes}>${escapeXml(piece)}</tspan>`
    }
    for (const code of codes[1].split(';').map(Number)) {
      if (code === 0) style = {}
      else if (code === 1) style = { ...style, bold: true }
      else if (code === 2) style = { ...style, dim: true }
      else if (code === 22) style = { ...style, bold: false, dim: false }
      else if (code === 39) style = { ...style, fill: undefined }
      else if (COLOURS[code]) style = { ...style, fill: COLOURS[code] }
    }
    return ''
  })
}

const width = 8.43 * Math.max(60, ...lines.map((line) => line.replace(/\x1b\[[0-9;]*m/g, '').length)) + 40
const height = 19 * lines.length + 40
const rows = lines.map(
  (line, i) => `<text x="20" y="${36 + 19 * i}" xml:space="preserve">${spans(line).join('')}</text>`,
)
console.log(`<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">
<title>A verdict in a terminal</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>`)
