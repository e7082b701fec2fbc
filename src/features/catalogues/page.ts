import type { Response } from 'express'
import type { ConnectionRef } from '../../connect/index.ts'
import type { Catalogue } from './contract.ts'
import type { Grant } from './grants.ts'
import type { History } from './history.ts'
import { texts } from './texts.ts'

const PAGE = 'catalogues/catalogue'

/** The parts from which the page of a catalogue is built. */
export interface CataloguePageOptions {
  grants: History<Grant>
}

/** Builds the page of a catalogue, including the sections that other features add to it. Throws `StoreUnavailableError`. */
export async function cataloguePage(
  res: Response,
  ref: ConnectionRef,
  catalogue: Catalogue,
  { grants }: CataloguePageOptions,
) {
  const granted = (await grants.list(ref)).filter(({ catalogueId }) => catalogueId === catalogue.id)
  const loaded = await res.loadSections(PAGE)
  return {
    view: PAGE,
    title: catalogue.name ?? catalogue.id,
    data: {
      ...Object.assign({}, ...loaded.map(({ data }) => data)),
      bxcontext: ref.bxcontext,
      catalogue,
      granted,
      catalogueTexts: texts,
      sections: loaded.map(({ view }) => view),
    },
    json: Object.assign({}, catalogue, { granted }, ...loaded.map(({ json }) => json)),
  }
}
