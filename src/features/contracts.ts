import { dirname, join } from 'node:path'
import { ASSUMPTIONS, type Assumption } from '../connect/index.ts'
import type { Contract, PathOf } from '../web/kit.ts'
import { loadFeatures } from './load.ts'

/** Loads all contracts: the core's first, then those of the features. */
export async function loadContracts(): Promise<Contract[]> {
  const file = 'src/connect/platform/contract.ts'
  const core = { name: 'core', file, assumptions: ASSUMPTIONS, scopes: {}, paths: [] }
  const ofFeatures = (await loadFeatures()).flatMap(({ name, scopes = {}, contract }) => {
    if (!contract) return []
    const { assumptions, paths = {} } = contract
    return { name, file: `src/features/${name}/contract.ts`, assumptions, scopes, paths: templatesOf(paths) }
  })
  return [core, ...ofFeatures]
}

/** Paths with `:id` in place of ids, such as `/leads/:id`, without their query. */
const templatesOf = (paths: Readonly<Record<string, PathOf>>) =>
  Object.values(paths).map((path) => {
    const text = typeof path === 'string' ? path : path(...Array<string>(path.length).fill('{id}'))
    return decodeURIComponent(text).replace(/\?.*/, '').replaceAll('{id}', ':id')
  })

/** Where to change the code if an assumption is wrong, such as `platform in src/connect/platform/contract.ts`. */
export function placeOf({ file }: Contract, { code }: Assumption): string {
  const [name = '', beside] = code.split('#').reverse()
  return `${name} in ${beside ? join(dirname(file), beside) : file}`
}
