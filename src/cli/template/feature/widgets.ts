import * as z from 'zod'
import type { Api, Page, PageOf, TokenSource } from '../../../connect/index.ts'
import { PATHS, WIDGETS_SCOPE, type Widget, widgetSchema } from './contract.ts'
// template: write
import { type NewWidget, newWidgetSchema } from './contract.ts'
// end of template
// template: call
import { texts } from './texts.ts'
// end of template

export interface Widgets {
  /** Returns a page of the account's widgets. */
  list(source: TokenSource, page?: Page): Promise<PageOf<Widget>>
  // template: detail
  /** Returns a widget. Throws `NotFoundError`. */
  get(source: TokenSource, id: string): Promise<Widget>
  // end of template
  // template: write
  /** Creates a widget and resolves to the platform's copy. Throws a `ZodError`, before any call, if it is invalid. */
  create(source: TokenSource, widget: NewWidget): Promise<Widget>
  // end of template
}

const listCall = { scope: WIDGETS_SCOPE, path: PATHS.widgets, schema: z.array(widgetSchema) }
// template: call
const widgetCall = { scope: WIDGETS_SCOPE, notFound: texts.notFound, schema: widgetSchema }
// end of template

/** The widgets API. Every method also throws the errors documented on `createApi`. */
export function createWidgets(api: Api): Widgets {
  return {
    list: (source, page = {}) => api.list(source, listCall, page),
    // template: detail
    get: (source, id) => api.get(source, { ...widgetCall, path: PATHS.widget(id) }),
    // end of template
    // template: write
    create: async (source, widget) =>
      api.post(source, { ...widgetCall, path: PATHS.widgets }, newWidgetSchema.parse(widget)),
    // end of template
  }
}
