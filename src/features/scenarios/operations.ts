import * as z from 'zod'
import type { Operation } from '../../web/openapi.ts'
import { resultSchema } from './runner.ts'

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/scenarios',
    summary: 'List the scenarios with their latest results',
    response: z.object({
      scenarios: z.array(
        z.object({
          name: z.string(),
          title: z.string(),
          expect: z.string(),
          result: resultSchema.nullable(),
        }),
      ),
    }),
  },
  {
    method: 'post',
    path: '/scenarios/:id/run',
    summary: 'Run a scenario between this app and the sandbox',
    response: resultSchema,
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/scenarios/reset',
    summary: "Reset the sandbox, and the user's connections and flows",
    response: z.object({ reset: z.literal(true) }),
  },
]
