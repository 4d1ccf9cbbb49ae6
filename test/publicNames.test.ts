import { expect, test } from 'vitest'
import * as attest from '../src/exports/attest.ts'
import * as certificate from '../src/exports/certificate.ts'
import * as engine from '../src/exports/engine.ts'
import * as identify from '../src/exports/identify.ts'
import * as touchstone from '../src/exports/index.ts'
import * as proof from '../src/exports/proof.ts'
import * as score from '../src/exports/score.ts'

test('the public names change only on purpose', () => {
  const names = Object.fromEntries(
    Object.entries({ attest, certificate, engine, identify, proof, score, touchstone }).map(([path, module]) => [
      path,
      Object.keys(module).sort(),
    ]),
  )
  expect(names).toMatchInlineSnapshot(`
    {
      "attest": [
        "ATTEST_DOUBTS",
        "NVIDIA_POLICY",
        "REFUSALS",
        "attestationReader",
        "policySchema",
        "writeBundle",
      ],
      "certificate": [
        "DOUBTS",
        "MAX_CERTIFICATE_BYTES",
        "MAX_SUMMARY_BYTES",
        "PROBLEMS",
        "checkCertificate",
        "checkSummary",
        "issueSummary",
        "readCertificate",
        "readEvidence",
      ],
      "engine": [
        "createEngine",
      ],
      "identify": [
        "CLAIM_CODES",
        "countCards",
        "explainClaim",
        "identifyGpu",
        "judgeClaim",
        "parseCatalogue",
        "parseClaim",
      ],
      "proof": [
        "PRECISIONS",
        "PRESETS",
        "REASONS",
        "challengeHash",
        "decodeChallenge",
        "encodeChallenge",
        "explainReason",
        "figuresOf",
        "openingRanges",
        "referenceEngine",
        "sampleRanges",
        "verifyAllOpenings",
        "verifyOpenings",
        "verifyRoots",
      ],
      "score": [
        "FULL_SCORE",
        "ScoreConfigError",
        "checkRequirements",
        "claimed",
        "defaultScoreConfig",
        "fact",
        "gpuTotals",
        "inferred",
        "measured",
        "proven",
        "readScoreConfig",
        "scoreBox",
        "shareAtAge",
      ],
      "touchstone": [
        "checkCertificate",
      ],
    }
  `)
})
