import { expect, test } from 'vitest'
import { platform } from '../../src/connect/index.ts'
import { loadContracts } from '../../src/features/contracts.ts'
import { featureOptions, loadFeatures } from '../../src/features/load.ts'

const features = await loadFeatures()

test('a feature asks for the scopes that its contract names, whichever other features there are', async () => {
  for (const { name, scopes } of await loadContracts()) {
    const feature = features.find((each) => each.name === name)
    if (feature) expect({ name, scopes: feature.scopes ?? {} }).toEqual({ name, scopes })
  }
})

test('the app asks for the scopes of its features, and for those of the platform only if no feature needs one', () => {
  const invoices = {
    name: 'invoices',
    folder: 'invoices',
    title: '',
    order: 1,
    scopes: { billing: 'to read invoices' },
  }
  expect(
    featureOptions([invoices, { name: 'metrics', folder: 'metrics', title: '', order: 2 }]).scopes,
  ).toEqual(['billing'])
  expect(featureOptions([{ name: 'metrics', folder: 'metrics', title: '', order: 2 }]).scopes).toEqual(
    Object.values(platform.scopes),
  )
})
