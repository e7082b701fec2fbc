import express, { Router } from 'express'
import * as z from 'zod'
import { parseBody } from '../../api.ts'
import type { SandboxFeature } from '../../feature.ts'
import { createPageSteps } from './page-steps.ts'
import { sendAgainRoutes } from './send-again.ts'

const querySchema = z.object({
  /** The key of the fingerprints. */
  key: z.string().min(16).max(200),
  /** The first and last time, in ms since 1970. */
  from: z.number(),
  to: z.number(),
})

/** Records what happens on the platform's own pages, so that the app's flow inspector can show it. */
export default {
  create(core) {
    const pageSteps = createPageSteps(core.baseUrl)
    return {
      observe: pageSteps.observe,
      routes: Router()
        .post('/sandbox/steps', express.json({ limit: '10kb' }), (req, res) => {
          const query = parseBody(res, querySchema, req.body, 'invalid_query')
          if (query) res.json({ steps: pageSteps.between(query.from, query.to, query.key) })
        })
        .use(sendAgainRoutes(core)),
      reset: pageSteps.clear,
      // For support staff who show both.
      links: [{ href: `${core.appUrl}/scenarios`, label: 'Scenarios' }],
    }
  },
} satisfies SandboxFeature
