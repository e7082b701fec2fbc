import type { Request } from 'express'
import type { ConnectionRef } from '../../connect/index.ts'
import type { FeatureContext } from '../feature.ts'
import type { Catalogue } from './contract.ts'

const PAGE = 'catalogues/catalogue'

/** Builds the page of a catalogue, including the sections that other features add to it. */
export async function cataloguePage(
  req: Request,
  ref: ConnectionRef,
  catalogue: Catalogue,
  sections: FeatureContext['sections'],
) {
  const loaded = await Promise.all(
    sections(PAGE).map(async (section) => ({
      view: section.view,
      ...(await section.load(req, ref, catalogue.id)),
    })),
  )
  return {
    view: PAGE,
    title: catalogue.name ?? catalogue.id,
    data: {
      ...Object.assign({}, ...loaded.map(({ data }) => data)),
      bxcontext: ref.bxcontext,
      catalogue,
      sections: loaded.map(({ view }) => view),
    },
    json: Object.assign({}, catalogue, ...loaded.map(({ json }) => json)),
  }
}
