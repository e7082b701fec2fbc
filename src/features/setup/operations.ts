import * as z from 'zod'
import type { Operation } from '../../web/openapi.ts'

const findingSchema = z.object({
  id: z.string().meta({ description: 'docs/doctor.md has each id.' }),
  status: z.enum(['ok', 'warning', 'failure']),
  text: z.string(),
  setting: z.string().optional(),
  value: z.string().optional(),
})

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/setup',
    summary: 'The steps from a clone to production. Not in production',
    response: z.object({
      steps: z.array(
        z.object({
          id: z.string(),
          title: z.string(),
          status: z.enum(['done', 'next', 'open']),
          state: z.string(),
        }),
      ),
    }),
  },
  {
    method: 'get',
    path: '/doctor',
    summary: 'Runs the checks of `npm run doctor`. Not in production',
    response: z.object({ findings: z.array(findingSchema) }),
  },
  {
    method: 'get',
    path: '/doctor/live',
    summary: 'Server-sent events: done when the checks have ended. Not in production',
    response: z.string(),
    responseType: 'text/event-stream',
  },
  {
    method: 'get',
    path: '/registration',
    summary: 'What platform support needs in order to register this app. Not in production',
    response: z.object({
      appName: z.string(),
      logoUrl: z.string().nullable(),
      warnings: z.array(z.string()),
      environments: z.array(
        z.object({
          name: z.string(),
          setting: z.string(),
          urls: z.array(z.string()),
          warnings: z.array(z.string()),
        }),
      ),
      scopes: z.array(z.object({ name: z.string(), reasons: z.array(z.string()) })),
      answers: z.array(z.object({ what: z.string(), setting: z.string() })),
      questions: z.array(
        z.object({ id: z.string(), topic: z.string(), assumed: z.string(), importance: z.number() }),
      ),
    }),
  },
]
