import { expect, test } from 'vitest'
import type { Api, TokenSource } from '../../../src/connect/index.ts'
import { createLeads } from '../../../src/features/leads/leads.ts'

test('a new lead with fields that the contract does not have is rejected without a request', async () => {
  const leads = createLeads({} as Api)
  const lead = { name: 'A', admin: true } as { name: string }
  await expect(leads.create({} as TokenSource, lead)).rejects.toThrow(/admin/)
})
