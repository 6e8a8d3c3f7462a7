#!/bin/sh
# The Python of tasks that are to have trouble: FOLDER PYTHON JOB.py …
# A file JOB-PHASE-TROUBLE in the folder is trouble for the first task to take it, which leaves its name there.
set -u
folder=$1 python=$2
shift 2
case " $* " in *" --reducer "*) phase=reducer ;; *) phase=mapper ;; esac
task=${mapreduce_task_attempt_id%_*}

take() { mv "$folder/$(basename "$1" .py)-$phase-$2" "$folder/$2.$mapreduce_task_attempt_id" 2>/dev/null; }
show_pid() { # and where the input of the task begins
  echo $$ "${mapreduce_map_input_start:-0}" >"$folder/$1.tmp"
  mv "$folder/$1.tmp" "$folder/$1"
}

touch "$folder/begun.$mapreduce_task_attempt_id"
if take "$1" fail; then # when all is done but told
  "$python" "$@" >/dev/null
  exit 1
elif take "$1" hold; then # all is done but told, and then it hangs
  "$python" "$@" >/dev/null
  show_pid held
  exec sleep 1000
elif take "$1" dawdle; then # until there is another attempt to race with
  while [ ! -e "$folder/begun.${task}_1" ]; do sleep 0.1; done
elif take "$1" watch; then
  show_pid watched
fi
exec "$python" "$@"
