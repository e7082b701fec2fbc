import * as z from 'zod'
import { HOPS } from '../../connect/express.ts'
import type { Operation } from '../../web/openapi.ts'
import { parameterSchema } from '../flow-inspector/flow.ts'

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/flows/step-by-step',
    summary: 'Turn the step-by-step mode of this browser session on or off',
    body: z.object({ on: z.boolean(), returnTo: z.string().optional() }),
    response: z.object({ on: z.boolean() }),
  },
  {
    method: 'get',
    path: '/flows/pauses/:id',
    summary: 'The next request of a connect flow that is paused',
    response: z.object({
      stage: z.enum(HOPS),
      request: z.object({
        method: z.string(),
        url: z.string(),
        parameters: z.array(parameterSchema),
      }),
      flow: z.string().nullable(),
    }),
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/flows/pauses/:id/continue',
    summary: 'Continue a connect flow that is paused',
    status: 303,
    errors: ['not_found'],
  },
]
