import { Router } from 'express'
import { API_FAULTS } from '../../src/sandbox/faults.ts'
import type { NamedSandboxFeature } from '../../src/sandbox/load.ts'
import { SCOPES } from '../../src/sandbox/platform.ts'

/** A feature for tests: an API operation for each scope. The token `probe-BXCONTEXT` acts for that business. */
export const probe: NamedSandboxFeature = {
  name: 'probe',
  scopes: { [SCOPES.leads]: 'See leads', [SCOPES.catalogues]: 'See catalogues' },
  faults: { probe: API_FAULTS },
  create: ({ guard }) => ({
    api: Router()
      .get('/probe', ...guard(SCOPES.leads, 'probe'), (_req, res) => void res.json({}))
      .get('/probe/catalogues', ...guard(SCOPES.catalogues, 'probe'), (_req, res) => void res.json({})),
    authenticate(token) {
      const [, bxcontext] = /^probe-(.+)$/.exec(token) ?? []
      return bxcontext ? { bxcontext, credential: token, scopes: null } : undefined
    },
  }),
}
