import * as React from 'react'

type Props = { title: string; onClose?: () => void }

/** Shows the title. */
export const App: React.FC<Props> = ({ title, onClose }) => {
  return (
    <main>
      {/* nothing yet */}
      <h1 onClick={onClose}>{title} // not a comment</h1>
    </main>
  )
}

export default React.memo(App)
