import { dirname, join } from 'node:path'
import { ASSUMPTIONS, type Assumption } from '../connect/index.ts'
import type { PathOf } from '../web/feature-api.ts'
import { loadFeatures } from './load.ts'

/** The facts and assumptions of one contract, the core's or a feature's. */
export interface Contract {
  /** `core`, or the name of the feature. */
  name: string
  /** Its file, relative to the project, such as `src/features/leads/contract.ts`. */
  file: string
  assumptions: readonly Assumption[]
  /** The scopes that the feature needs, each with a reason that begins with "to". */
  scopes: Readonly<Record<string, string>>
  /** The paths of its operations, with `:id` instead of ids. */
  paths: readonly string[]
}

/** Loads all contracts: the core's first, then those of the features. */
export async function loadContracts(): Promise<Contract[]> {
  const file = 'src/connect/platform/contract.ts'
  const core = { name: 'core', file, assumptions: ASSUMPTIONS, scopes: {}, paths: [] }
  const ofFeatures = (await loadFeatures()).flatMap(({ name, folder, scopes = {}, contract }) => {
    if (!contract) return []
    const { assumptions, paths = {} } = contract
    return {
      name,
      file: `src/features/${folder}/contract.ts`,
      assumptions,
      scopes,
      paths: templatesOf(paths),
    }
  })
  return [core, ...ofFeatures]
}

/** Paths with `:id` instead of ids, such as `/leads/:id`, without their query. */
const templatesOf = (paths: Readonly<Record<string, PathOf>>) =>
  Object.values(paths).map((path) => {
    const text = typeof path === 'string' ? path : path(...Array<string>(path.length).fill('{id}'))
    return decodeURIComponent(text).replace(/\?.*/, '').replaceAll('{id}', ':id')
  })

/** The place to change if an assumption is wrong, such as `platform in src/connect/platform/contract.ts`. */
export function placeOf({ file }: Contract, { code }: Assumption): string {
  const [name = '', beside] = code.split('#').reverse()
  return `${name} in ${beside ? join(dirname(file), beside) : file}`
}
