import { expect } from 'vitest'
import { featureOptions, loadFeatures } from '../../../src/features/load.ts'
import { runDoctor } from '../../../src/features/setup/doctor.ts'
import { type Config, readConfig } from '../../../src/settings/config.ts'
import type { Finding } from '../../../src/web/feature-api.ts'
import { testEnv } from '../../support/env.ts'

const features = await loadFeatures()

export type Env = Record<string, string>

export function configOf(env: Env, of = features): Config {
  return readConfig(testEnv(env), { hasOwnSignIn: false, ...featureOptions(of) })
}

/** The doctor's findings about the platform and the features, but not about the store. */
export async function findings(env: Env, options: { timeoutMs?: number } = {}): Promise<Finding[]> {
  return Array.fromAsync(runDoctor({ config: configOf(env), store: undefined, ...options }))
}

export const problemsOf = (found: Finding[]) => found.filter(({ status }) => status !== 'ok')

/**
 * Runs the doctor with a setting that is wrong: it must find that problem and no other, and name the setting. If it names a value,
 * it must find no problem once the setting has that value.
 */
export async function expectDiagnosis(right: Env, wrong: Env, id: string, setting: string): Promise<void> {
  const [problem, ...others] = problemsOf(await findings({ ...right, ...wrong }))
  expect(others).toEqual([])
  expect(problem).toMatchObject({ id, setting })
  expect(problem?.text).toContain(setting)
  if (problem?.value === undefined) return
  expect(problemsOf(await findings({ ...right, ...wrong, [setting]: problem.value }))).toEqual([])
}
