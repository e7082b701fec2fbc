import type { Probe } from '../../../features/tools.ts'
import { PATHS, WIDGETS_SCOPE, widgetSchema } from './contract.ts'

/** Compares the widgets of the platform with the contract. */
export default async function probeWidgets(probe: Probe): Promise<void> {
  await probe.checkRecords({
    scope: WIDGETS_SCOPE,
    path: PATHS.widgets,
    record: PATHS.widget,
    idField: 'id',
    schema: widgetSchema,
    operations: 'widgets-operations',
    fields: 'widget',
    paged: true,
  })
  // template: write
  if (!probe.write) return probe.notSeen('new-widget', 'Run the probe with `--write`.')
  const notes = 'Created by npm run probe. Delete it.'
  const answer = await probe.call(PATHS.widgets, { name: 'Test widget of the probe', notes })
  const place = `POST ${PATHS.widgets}`
  if (!answer) return probe.notSeen('new-widget', `${place}: no usable answer. Run the probe again.`)
  if (answer.status === 403)
    return probe.notSeen('new-widget', `The consent does not include the scope \`${WIDGETS_SCOPE}\`.`)
  const isWidget = answer.status < 300 && widgetSchema.safeParse(answer.json).success
  if (isWidget) probe.confirm('new-widget', `${place}: ${answer.status}, with the widget`)
  else probe.differ('new-widget', `${place}: ${answer.status}, without a widget`, false)
  // end of template
}
