// Prints the plain totals of a vitest JSON report; no report, or no test in it, is a failure.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const skipped = report.numPendingTests + report.numTodoTests
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed, ${skipped} skipped`)
process.exit(report.numPassedTests > 0 && report.numFailedTests === 0 && report.success ? 0 : 1)
