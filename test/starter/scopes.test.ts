import { expect, test } from 'vitest'
import { loadContracts } from '../../src/features/contracts.ts'
import { features } from '../../src/features/index.ts'

test('a feature asks for the scopes that its contract names, whichever other features there are', async () => {
  for (const { name, scopes } of await loadContracts()) {
    const feature = features.find((each) => each.name === name)
    if (feature) expect({ name, scopes: feature.scopes ?? {} }).toEqual({ name, scopes })
  }
})
