#!/bin/sh
# Stands in for the program `hadoop`: notes its command line and plays a job that works, fails or hangs.
# Usage: fake_hadoop.sh FOLDER ARGUMENT…, with FAKE_HADOOP=work|fail|raise|refuse|hang
folder=$1
shift
{ printf '%s\037' "$@"; echo; } >> "$folder/calls"
case "$1 $2" in
"version ")
    echo "Hadoop 3.4.2" ;;
"fs -put")
    cp "$3" "$folder/put/$(basename "$4")" ;;
"fs -ls")
    [ -e "$folder/put/$(basename "$3")" ] || { echo "ls: \`$3': No such file or directory" >&2; exit 1; } ;;
"fs -cat")
    printf '1\t["two"]\n2\t["one"]\n' ;;
"org.apache.hadoop.yarn.client.cli.LogsCLI "*)
    cat "$folder/logs" ;;
"jar "*)
    if [ "$FAKE_HADOOP" = refuse ]; then
        echo "26/11/16 03:00:00 ERROR streaming.StreamJob: Error Launching job : $(cat "$folder/refusal")" >&2
        echo "Streaming Command Failed!" >&2
        exit 5
    fi
    {
        echo "26/11/16 03:00:00 INFO impl.YarnClientImpl: Submitted application application_1763000000000_0007"
        echo "26/11/16 03:00:00 INFO mapreduce.Job: Running job: job_1763000000000_0007"
    } >&2
    if [ "$FAKE_HADOOP" = hang ]; then
        echo $$ > "$folder/client"
        exec sleep 600
    fi
    if [ "$FAKE_HADOOP" = raise ]; then
        {
            echo "26/11/16 03:00:05 INFO mapreduce.Job: Task Id : attempt_1763000000000_0007_r_000003_1, Status : FAILED"
            cat "$folder/error"
        } >&2
    fi
    echo "26/11/16 03:00:09 INFO mapreduce.Job: Counters: 2" >&2
    printf '\tMap-Reduce Framework\n\t\tMap input records=2\n\twords\n\t\tlines=2\n' >&2
    [ "$FAKE_HADOOP" = work ] ;;
esac
