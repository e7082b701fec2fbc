import { type RequestHandler, Router } from 'express'
import { describeRoute } from '../../../connect/express.ts'
import type { Vault } from '../../../connect/index.ts'
import { connectionRef } from '../../../web/connections.ts'
import { READ_ERRORS } from '../../../web/openapi.ts'
import { pageOf, pageOfSchema, pageQuery, pager } from '../../../web/paging.ts'
import { sendPageOrJson } from '../../../web/respond.ts'
import { widgetSchema } from './contract.ts'
import { texts } from './texts.ts'
import type { Widgets } from './widgets.ts'
// template: write
import * as z from 'zod'
import { rejectForm } from '../../../web/errors.ts'
import { sendResultOrRedirect } from '../../../web/respond.ts'
import { newWidgetSchema } from './contract.ts'

/** A new widget from a form or JSON. An empty field counts as absent. */
const widgetBody = z.preprocess(
  (fields) => Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== '')),
  newWidgetSchema,
)
// end of template

export interface WidgetsOptions {
  widgets: Widgets
  vault: Vault
}

/** Routes of the widgets of a connection. */
export function widgetsRoutes(options: WidgetsOptions): Router {
  return (
    Router()
      .get(
        '/connections/:bxcontext/widgets',
        describeRoute({
          summary: 'A page of widgets.',
          query: pageQuery,
          response: pageOfSchema(widgetSchema),
          errors: READ_ERRORS,
        }),
        listHandler(options),
      )
      // template: write
      .post(
        '/connections/:bxcontext/widgets',
        describeRoute({
          summary: 'Creates a widget. Fields: `name` (required), `notes`. Answers `201` with the widget.',
          body: widgetBody,
          status: 201,
          response: widgetSchema,
          errors: [...READ_ERRORS, 'invalid_input', 'platform_rejected'],
        }),
        createHandler(options),
      )
      // end of template
      // template: detail
      .get(
        '/connections/:bxcontext/widgets/:id',
        describeRoute({
          summary: 'One widget.',
          response: widgetSchema,
          errors: [...READ_ERRORS, 'not_found'],
        }),
        showHandler(options),
      )
      // end of template
  )
}

function listHandler({ widgets, vault }: WidgetsOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const page = pageOf(req)
    const { items, total } = await widgets.list(vault.tokenSource(ref), page)
    sendPageOrJson(req, res, {
      view: 'widgets/widgets',
      title: texts.title,
      data: {
        bxcontext: ref.bxcontext,
        widgets: items,
        pager: pager({ items, total }, page),
        widgetTexts: texts,
      },
      json: { items, total },
    })
  }
}
// template: write

function createHandler({ widgets, vault }: WidgetsOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const location = `/connections/${encodeURIComponent(ref.bxcontext)}/widgets`
    try {
      const widget = await widgets.create(vault.tokenSource(ref), widgetBody.parse(req.body ?? {}))
      await sendResultOrRedirect(req, res, location, widget, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, async () => ({
        view: 'widgets/widgets',
        title: texts.title,
        data: { bxcontext: ref.bxcontext, widgets: null, pager: null, widgetTexts: texts },
      }))
    }
  }
}
// end of template
// template: detail

function showHandler({ widgets, vault }: WidgetsOptions): RequestHandler<{ bxcontext: string; id: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const widget = await widgets.get(vault.tokenSource(ref), req.params.id)
    sendPageOrJson(req, res, {
      view: 'widgets/widget',
      title: widget.name || widget.id,
      data: { bxcontext: ref.bxcontext, widget, widgetTexts: texts },
      json: widget,
    })
  }
}
// end of template
